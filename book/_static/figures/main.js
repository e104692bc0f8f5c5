// All figures. The build joins these modules, in this order, into one classic script: it runs from a file too.
import * as formulas from "./formulas.js";
import { start } from "./kernel.js";
import "./projection.js";
import "./fan.js";
import "./adversary.js";
import "./step.js";
import "./lazy-eager.js";
import "./hedge.js";
import "./perceptron.js";
import "./delay.js";
import "./waterfall.js";

start(formulas);

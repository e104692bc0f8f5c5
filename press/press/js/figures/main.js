// Load all figures. The build bundles them into one classic script, which also works without a server.
import * as formulas from "./formulas.js";
import { start } from "./kernel.js";
import "./projection.js";
import "./fan.js";
import "./adversary.js";
import "./duel.js";
import "./step.js";
import "./lazy-eager.js";
import "./hedge.js";
import "./perceptron.js";
import "./delay.js";
import "./waterfall.js";
import "./triangle.js";

start(formulas);

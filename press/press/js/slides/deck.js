import Reveal from "reveal.js";
import RevealNotes from "reveal.js/plugin/notes/notes.esm.js";

globalThis.Reveal = Reveal; // the window of the notes asks the deck by this name

// Letters for all slides at once: one that is hidden would ask for them only when it is shown.
document.fonts.forEach(face => face.load().catch(() => {})); // one that stands in may be missing

// A key that moves a figure does not turn the slide.
Reveal.initialize({
  width: 1280, height: 720, margin: 0.02, center: false, hash: true, transition: 'none', viewDistance: 2,
  progress: true, controls: true, slideNumber: 'c/t', pdfMaxPagesPerSlide: 1, pdfSeparateFragments: false,
  keyboardCondition: () => !document.activeElement?.closest('moving-figure'),
  plugins: [RevealNotes],
});

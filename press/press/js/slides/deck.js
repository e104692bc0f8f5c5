// Start reveal.js in a deck of slides.
import Reveal from "reveal.js";
import RevealNotes from "reveal.js/plugin/notes/notes.esm.js";

globalThis.Reveal = Reveal; // the window with the speaker's notes needs this global

// Load the fonts of all slides now; otherwise hidden slides load theirs only when they are shown.
document.fonts.forEach(face => face.load().catch(() => {})); // a fallback font may be missing

// Keys that operate a figure must not change the slide.
Reveal.initialize({
  width: 1280, height: 720, margin: 0.02, center: false, hash: true, transition: 'none', viewDistance: 2,
  progress: true, controls: true, slideNumber: 'c/t', pdfMaxPagesPerSlide: 1, pdfSeparateFragments: false,
  keyboardCondition: () => !document.activeElement?.closest('moving-figure'),
  plugins: [RevealNotes],
});

// The address of this script, known only while it is first executed; all other files are relative to it.
export const SCRIPT = document.currentScript.src;

// The address of this script, which it is told only while it is first read: everything else lies beside it.
export const SCRIPT = document.currentScript.src;

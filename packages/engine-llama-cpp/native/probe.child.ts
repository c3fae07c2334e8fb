import { loadLibraries } from './backends.js';

/** Ends with 0 if the libraries for the device of the first argument load and find it. */
loadLibraries(process.argv[2] as Parameters<typeof loadLibraries>[0]);

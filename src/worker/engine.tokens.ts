/** The engine of this process, by what it is asked for. Exactly one of RECOGNIZER and SYNTHESIZER is provided. */
export const ENGINE = Symbol('ENGINE');
export const RECOGNIZER = Symbol('RECOGNIZER');
export const SYNTHESIZER = Symbol('SYNTHESIZER');

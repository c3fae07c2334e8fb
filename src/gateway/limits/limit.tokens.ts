/** Injection token of the `LimitStore` that the settings choose. */
export const LIMIT_STORE = Symbol('LIMIT_STORE');

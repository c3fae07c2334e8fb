/** Of the process in which jest runs its files one after the other. */
export default () => globalThis[Symbol.for('switchyard.jest.shared')]?.();

type Shape = (value: unknown) => unknown;

/** By prototype of the class that has the field. */
const SHAPES = new WeakMap<object, Map<string, Shape>>();

/** What becomes of the value of a field before it is validated. @param shape given whatever was sent; what it does not know it returns */
export const Shaped =
  (shape: Shape): PropertyDecorator =>
  (target, key) => {
    const shapes = SHAPES.get(target) ?? new Map<string, Shape>();
    SHAPES.set(target, shapes.set(String(key), shape));
  };

/**
 * An instance with these fields; those that are absent have its defaults. Values are taken as they are, but for shaped fields: to
 * copy what a caller sent, at any depth and width, would be work that nobody needs and that a caller can make endless.
 */
export function shaped<T extends object>(type: new () => T, fields: Readonly<Record<string, unknown>>): T {
  const instance = new type();
  for (const [name, value] of Object.entries(fields)) {
    if (name === '__proto__' || name === 'constructor') continue;
    const shape = shapeOf(instance, name);
    (instance as Record<string, unknown>)[name] = shape ? shape(value) : value;
  }
  return instance;
}

/** Of the class or of one it extends. */
function shapeOf(instance: object, name: string): Shape | undefined {
  let prototype = Object.getPrototypeOf(instance) as object | null;
  while (prototype !== null) {
    const shape = SHAPES.get(prototype)?.get(name);
    if (shape) return shape;
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return undefined;
}

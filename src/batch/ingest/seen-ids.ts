import { hash } from 'node:crypto';

const SHORT = 22;

/**
 * The `custom_id`s of a file so far. Long ones are kept by hash, so that 50,000 of 512 characters cost as little as short
 * ones; 132 bits make a false "used before" impossible in practice.
 */
export class SeenIds {
  readonly #keys = new Set<string>();

  has(customId: string): boolean {
    return this.#keys.has(keyOf(customId));
  }

  add(customId: string): void {
    this.#keys.add(keyOf(customId));
  }
}

const keyOf = (id: string): string => (id.length <= SHORT ? id : `#${hash('sha256', id, 'base64').slice(0, SHORT)}`);

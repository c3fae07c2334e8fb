/** There is no blob with this key: it was removed, or never written to its end. */
export class BlobMissing extends Error {
  constructor(readonly key: string) {
    super(`There is no blob ${key}.`);
    this.name = 'BlobMissing';
  }
}

const KEY = /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)*$/;

/** Keys are made here, never by users; a path that could leave the folder is a mistake worth stopping at. @throws RangeError */
export function checkKey(key: string): string {
  if (key.length > 200 || !KEY.test(key)) throw new RangeError(`Not a blob key: ${JSON.stringify(key)}.`);
  return key;
}

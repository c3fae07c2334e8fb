/** Inclusive positions. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * One `Range` over `size` bytes (RFC 9110 §14): `bytes=0-99`, `bytes=100-`, `bytes=-100`. Several ranges, other units and
 * nonsense are ignored (undefined: all bytes), as the RFC allows.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') return within({ from: Math.max(0, size - Number(last)), to: size - 1 }, size);
  if (last !== '' && Number(last) < Number(first)) return undefined;
  return within({ from: Number(first), to: last === '' ? size - 1 : Math.min(Number(last), size - 1) }, size);
}

const within = (range: ByteRange, size: number): ByteRange | 'unsatisfiable' =>
  range.from < size ? range : 'unsatisfiable';

/** Does a list such as `"a", W/"b"` or `*` name this tag? Weak comparison, as `If-None-Match` wants. */
export function namesTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map(tag => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}

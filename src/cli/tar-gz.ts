import { gzipSync } from 'node:zlib';

const BLOCK = 512;

/** A compressed tar archive of small texts, in the order given. */
export function tarGz(files: Readonly<Record<string, string>>, mtimeS: number): Buffer {
  const entries = Object.entries(files).map(([name, text]) =>
    entryOf(name, Buffer.from(text), mtimeS),
  );
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]));
}

function entryOf(name: string, content: Buffer, mtimeS: number): Buffer {
  const head = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number): string =>
    `${value.toString(8).padStart(digits, '0')}\0`;
  const fields: readonly (readonly [offset: number, text: string])[] = [
    [0, name],
    [100, octal(0o600, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(content.length, 11)],
    [136, octal(mtimeS, 11)],
    // The sum counts its own field as blanks.
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\x0000'],
  ];
  for (const [offset, text] of fields) head.write(text, offset, 'latin1');
  head.write(
    `${octal(
      head.reduce((sum, byte) => sum + byte),
      6,
    )} `,
    148,
    'latin1',
  );
  return Buffer.concat([
    head,
    content,
    Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
  ]);
}

/**
 * Bytes of a whole batch file of `batch.max_file_bytes`, 200 MiB, and `batch.max_lines`.
 */
export const FULL_LINES = 50_000;
const FULL_BYTES = 200 * 1_048_576;
const SYSTEM_PROMPTS = 50;

/**
 * Chat lines of equal length, some 4 kB each, behind 50 different system prompts; 200
 * MiB in all.
 */
export function fullBatchFile(): Buffer {
  const lineBytes = Math.floor(FULL_BYTES / FULL_LINES);
  const file = Buffer.allocUnsafe(lineBytes * FULL_LINES);
  for (let index = 0; index < FULL_LINES; index++) {
    const bare = Buffer.byteLength(chatLine(index, ''));
    file.write(chatLine(index, 'x'.repeat(lineBytes - bare)), index * lineBytes, 'latin1');
  }
  return file;
}

function chatLine(index: number, content: string): string {
  const messages = [
    { role: 'system', content: `You answer as number ${index % SYSTEM_PROMPTS}.` },
    { role: 'user', content },
  ];
  const body = { model: 'bench', messages };
  return `${JSON.stringify({ custom_id: `line-${index}`, method: 'POST', url: '/v1/chat/completions', body })}\n`;
}

const ENDPOINTS = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/responses',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  '/v1/audio/speech',
];

/** As much as is read here; the server checks the rest. */
const MOST_BYTES = 20_000_000;
const MOST_PROBLEMS = 10;

export interface Problem {
  readonly line: number;
  readonly message: string;
}

export interface Checked {
  readonly lines: number;
  readonly isWhole: boolean;
  readonly endpoint: string | undefined;
  readonly problems: readonly Problem[];
}

interface Line {
  readonly custom_id?: unknown;
  readonly method?: unknown;
  readonly url?: unknown;
  readonly body?: unknown;
}

/** What would be refused is said before anything is sent. */
export async function checkBatchFile(file: File): Promise<Checked> {
  const isWhole = file.size <= MOST_BYTES;
  const text = await file.slice(0, MOST_BYTES).text();
  // A cut line is not judged.
  const rows = (isWhole ? text : text.slice(0, text.lastIndexOf('\n'))).split('\n');
  const problems: Problem[] = [];
  const seen = new Set<unknown>();
  let endpoint: string | undefined;
  let lines = 0;
  rows.forEach((row, index) => {
    if (row.trim() === '' || problems.length >= MOST_PROBLEMS) return;
    lines++;
    const { problem, line } = read(row);
    const message = problem ?? (line && fault(line, seen, endpoint));
    if (message) problems.push({ line: index + 1, message });
    if (line) {
      seen.add(line.custom_id);
      endpoint ??= ENDPOINTS.find(each => each === line.url);
    }
  });
  if (lines === 0) problems.push({ line: 1, message: 'the file is empty' });
  return { lines, isWhole, endpoint, problems };
}

function read(row: string): { line?: Line; problem?: string } {
  try {
    const line: unknown = JSON.parse(row);
    return typeof line === 'object' && line !== null
      ? { line }
      : { problem: 'must be a JSON object' };
  } catch {
    return { problem: 'is not JSON' };
  }
}

function fault(
  line: Line,
  seen: ReadonlySet<unknown>,
  endpoint: string | undefined,
): string | undefined {
  const { custom_id: id, method, url, body } = line;
  if (typeof id !== 'string' || id === '') return 'custom_id is missing';
  if (seen.has(id)) return `custom_id ${id} is used twice`;
  if (method !== 'POST') return 'method must be POST';
  if (!ENDPOINTS.includes(String(url))) return `url must be one of ${ENDPOINTS.join(', ')}`;
  if (endpoint !== undefined && url !== endpoint)
    return `url differs from that of the first line, ${endpoint}`;
  if (typeof body !== 'object' || body === null) return 'body must be an object';
  return undefined;
}

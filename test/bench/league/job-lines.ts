import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const PROMPT = 'Say something that takes a while to say. '.repeat(5);

/** A batch of chats, in OpenAI's format. */
export async function writeLines(path: string, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, at) => {
    const messages = [{ role: 'user', content: `line ${at}: ${PROMPT}` }];
    const body = { model: 'bench', messages };
    return JSON.stringify({
      custom_id: `line-${at}`,
      method: 'POST',
      url: '/v1/chat/completions',
      body,
    });
  });
  await writeFile(path, `${lines.join('\n')}\n`);
}

export interface Outcome {
  /** Lines without an answer. */
  readonly lost: number;
  /** Answers beyond the first of a line. */
  readonly twice: number;
}

/** Reads what a contestant wrote: `custom_id` and the answer, a line each. */
export async function outcomeOf(path: string, count: number): Promise<Outcome> {
  const answered = new Set<string>();
  let answers = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const id = answeredLine(line);
    if (id === undefined) continue;
    answered.add(id);
    answers++;
  }
  return { lost: count - answered.size, twice: answers - answered.size };
}

/** Undefined for an error, and for what was written only in part. */
function answeredLine(text: string): string | undefined {
  try {
    const { custom_id } = JSON.parse(text) as { custom_id: string };
    return text.includes('chat.completion') ? custom_id : undefined;
  } catch {
    return undefined;
  }
}

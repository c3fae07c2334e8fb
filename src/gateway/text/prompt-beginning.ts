import { createHash } from 'node:crypto';

/** Characters of a text that tell which beginning it is. */
const TELLING_CHARACTERS = 512;
/** The system's message and the first question: what all turns of one conversation share. */
const TELLING_MESSAGES = 2;

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content.slice(0, TELLING_CHARACTERS);
  if (!Array.isArray(content)) return '';
  const part: unknown = content.find(item => typeof (item as { text?: unknown } | null)?.text === 'string');
  return part === undefined ? '' : (part as { text: string }).text.slice(0, TELLING_CHARACTERS);
};

/** How a conversation begins; the same for each of its turns. */
export const beginningOfChat = (messages: unknown): string =>
  (messages as readonly { readonly role: string; readonly content?: unknown }[])
    .slice(0, TELLING_MESSAGES)
    .map(({ role, content }) => `${role}:${textOf(content)}`)
    .join('\n');

/** How the first prompt begins. */
export function beginningOfPrompt(prompt: string | readonly unknown[]): string {
  if (typeof prompt === 'string') return textOf(prompt);
  const [first] = prompt;
  if (typeof first === 'string') return textOf(first);
  return ((Array.isArray(first) ? first : prompt) as readonly unknown[]).slice(0, TELLING_CHARACTERS).join();
}

/** What the pool chooses a worker by: prefixes are kept per tenant, so two tenants have nothing to share. */
export const affinityOf = (tenant: string, beginning: string): string =>
  createHash('sha256').update(`${tenant}\n${beginning}`).digest('base64url').slice(0, 22);

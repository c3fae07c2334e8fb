import { parseBoundedJson } from '../../../../core/shared/bounded-json.js';
import { Refusal } from './refusal.js';

/** A message as chat templates know it. */
export type TemplateMessage = Readonly<Record<string, unknown>> & { readonly role: string; readonly content: string };

const ROLES: Readonly<Record<string, string>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
};

/**
 * OpenAI's messages in the form of chat templates: `developer` is `system`, parts of text are one text, and arguments of tool
 * calls are objects where the template writes JSON itself. @throws Refusal
 */
export function templateMessages(messages: unknown, objectArguments: boolean): TemplateMessage[] {
  if (!Array.isArray(messages) || messages.length === 0)
    throw new Refusal('invalid_value', '`messages` is a list of at least one message.', 'messages');
  return messages.map((message: unknown, index) => templateMessage(message, `messages[${index}]`, objectArguments));
}

function templateMessage(message: unknown, param: string, objectArguments: boolean): TemplateMessage {
  const { role, content, tool_calls: calls, ...rest } = (message ?? {}) as Record<string, unknown>;
  const known = typeof role === 'string' ? ROLES[role] : undefined;
  if (known === undefined) {
    const allowed = Object.keys(ROLES).join(', ');
    throw new Refusal(
      'invalid_value',
      `\`${param}.role\` is ${JSON.stringify(role)}; allowed: ${allowed}.`,
      `${param}.role`,
    );
  }
  return {
    ...rest,
    role: known,
    content: textOf(content, `${param}.content`),
    ...(Array.isArray(calls) && { tool_calls: calls.map((call: unknown) => templateCall(call, objectArguments)) }),
  };
}

function textOf(content: unknown, param: string): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content))
    throw new Refusal('invalid_value', `\`${param}\` is neither text nor a list of parts.`, param);
  const parts = content.map((part: unknown, index) => {
    const { type, text, refusal } = (part ?? {}) as { type?: unknown; text?: unknown; refusal?: unknown };
    if (type === 'text' && typeof text === 'string') return text;
    if (type === 'refusal' && typeof refusal === 'string') return refusal;
    throw new Refusal(
      'invalid_value',
      `\`${param}[${index}]\` is ${JSON.stringify(type)}; this model reads text only.`,
      `${param}[${index}]`,
    );
  });
  return parts.join('\n');
}

function templateCall(call: unknown, objectArguments: boolean): unknown {
  const { function: called, ...rest } = (call ?? {}) as { function?: { arguments?: unknown } };
  if (called === undefined || !objectArguments || typeof called.arguments !== 'string') return call;
  return { ...rest, function: { ...called, arguments: objectOf(called.arguments) } };
}

/** Arguments that are no JSON object stay the text they are. */
function objectOf(text: string): unknown {
  try {
    const value = parseBoundedJson(text);
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}

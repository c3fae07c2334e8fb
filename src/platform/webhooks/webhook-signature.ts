import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError } from '../config/config-problem.js';

const PREFIX = 'whsec_';

/** Signs as Standard Webhooks says: HMAC-SHA256 over `id.timestamp.body`, so that a receiver knows sender, age and content. */
export class WebhookSignature {
  constructor(private readonly secret: Buffer) {}

  /** @param path of a file with `whsec_` and base64, or with the secret as it is; empty: undefined. @throws ConfigError */
  static fromFile(path: string): WebhookSignature | undefined {
    if (path === '') return undefined;
    const text = readSecret(path).trim();
    const secret = text.startsWith(PREFIX) ? Buffer.from(text.slice(PREFIX.length), 'base64') : Buffer.from(text);
    if (secret.length >= 16) return new WebhookSignature(secret);
    throw new ConfigError([{ origin: path, message: 'must hold at least 16 bytes of secret' }]);
  }

  /** @param timestamp Unix seconds */
  headers(id: string, timestamp: number, body: string): Record<string, string> {
    const digest = createHmac('sha256', this.secret).update(`${id}.${timestamp}.${body}`).digest('base64');
    return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${digest}` };
  }
}

function readSecret(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([
      { origin: path, message: `cannot be read (${code}); \`batch.webhook_secret_file\` names it` },
    ]);
  }
}

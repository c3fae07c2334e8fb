import { openAsBlob } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fileBlob } from './arguments.js';
import { type GatewayAnswer } from './gateway-client.js';

/** A model that the gateway serves. */
export type ServedModel = GatewayAnswer<'/v1/models/{id}'>;

/**
 * Speech of the default synthesiser, 24 s: every recogniser hears the same,
 * on every machine.
 */
const SPEECH = fileURLToPath(new URL('../../../config/verify-speech.ogg', import.meta.url));

/** @param audio a file of the user. @throws CliError exit code 2 if it cannot be read */
export async function speechForm(
  { root }: ServedModel,
  audio: string | undefined,
): Promise<FormData> {
  const form = new FormData();
  form.set('model', root);
  form.set('response_format', 'verbose_json');
  const blob = audio === undefined ? await openAsBlob(SPEECH) : await fileBlob(audio);
  form.set('file', blob, audio ?? 'speech.ogg');
  return form;
}

export const speechBody = (
  { root, voices }: ServedModel,
  input: string,
  format: 'pcm' | 'wav',
) => ({
  model: root,
  input,
  voice: voices[0] ?? 'alloy',
  response_format: format,
});

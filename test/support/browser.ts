import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

export const hasBrowser = existsSync(CHROMIUM);

/**
 * Headless Chromium whose microphone plays `microphone` (a WAV) once,
 * without asking anybody.
 */
export function openBrowser(microphone?: string): Promise<Browser> {
  const fake = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  const file =
    microphone === undefined ? [] : [`--use-file-for-fake-audio-capture=${microphone}%noloop`];
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', ...fake, ...file],
  });
}

/** One thing wrong with the configuration, told so that it can be put right without reading code. */
export interface ConfigProblem {
  /** `config/switchyard.yaml:12:9` (line and column) or the name of the environment variable. */
  readonly origin: string;
  /** `queue.max_requests`, `models[0].kind`; absent when the file as a whole is at fault. */
  readonly path?: string;
  /** As written. */
  readonly value?: unknown;
  readonly message: string;
}

/** Everything wrong at once: nobody should start the server five times to find five mistakes. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly ConfigProblem[]) {
    super(
      `The configuration has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${problems.map(problem => `  ${problemText(problem)}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

/** `config/models.yaml:3:5  models[0].id = "tts": what is wrong` */
export function problemText({ origin, path, value, message }: ConfigProblem): string {
  const what = path === undefined ? '' : `${path}${value === undefined ? '' : ` = ${JSON.stringify(value)}`}: `;
  return `${origin}  ${what}${message}`;
}

import { parseArgs } from 'node:util';

/** A command line that cannot be followed; `usage` says what can. */
export class UsageError extends Error {
  constructor(
    message: string,
    readonly usage: string,
  ) {
    super(message);
    this.name = 'UsageError';
  }

  get text(): string {
    return `${this.message}\n\n${this.usage}`;
  }
}

/** Exit code of a program that was called wrongly, as of the `switchyard` command. */
export const WRONG_USAGE = 2;

const SETTINGS_HELP = `It takes no options. Settings come from config/switchyard.yaml and the environment
(SWITCHYARD_SERVER_PORT sets server.port).

  npm run config:print   every setting, its value and where it came from
  SWITCHYARD_CONFIG      names another settings file
  NODE_OPTIONS           flags of Node
  --help                 this text

SIGTERM or Ctrl-C drains and stops.`;

/**
 * Whether a program without options shall run: `--help` prints its usage instead. @throws
 * UsageError for any other word
 */
export function shallRun(about: string): boolean {
  const usage = `${about}\n${SETTINGS_HELP}`;
  try {
    const { help } = parseArgs({
      options: { help: { type: 'boolean', short: 'h' } },
    }).values;
    if (help) process.stdout.write(`${usage}\n`);
    return !help;
  } catch (error) {
    throw new UsageError((error as Error).message, usage);
  }
}

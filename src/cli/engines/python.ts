import { CliError } from '../shared/cli-error.js';
import { parsed, type RunCommand } from './command.js';

/** The oldest Python of workers/python (its pyproject.toml). */
export const PYTHON_MIN = [3, 11] as const;

/** Of the machine, then newer ones beside it. */
const CANDIDATES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];

const PROBE = `
import json, sys
try:
    import venv, ensurepip
    usable = True
except ImportError:
    usable = False
print(json.dumps({"version": list(sys.version_info[:2]), "venv": usable}))
`;

/**
 * @returns a Python command that can make environments. @throws CliError with what the
 *   best one lacks
 */
export async function findPython(run: RunCommand, named?: string): Promise<string> {
  const problems: string[] = [];
  for (const command of named === undefined ? CANDIDATES : [named]) {
    const problem = problemOf(
      command,
      await run(command, ['-c', PROBE], { limitMs: 30_000 }),
    );
    if (problem === undefined) return command;
    problems.push(problem);
  }
  throw new CliError(problems.find(text => !text.includes('not found')) ?? problems[0]!);
}

function problemOf(
  command: string,
  { code, output }: { code: number; output: string },
): string | undefined {
  const [major, minor] = PYTHON_MIN;
  const install = 'apt-get install -y --no-install-recommends python3 python3-venv';
  const other = 'or name another Python with --python';
  if (code === 127)
    return `${command} is not found: Python ${major}.${minor} or newer is needed. ${install}, ${other}`;
  const probe = parsed<{
    readonly version: readonly [number, number];
    readonly venv: boolean;
  }>(output);
  if (code !== 0 || !probe)
    return `${command} does not run: ${output.trim().split('\n').at(-1)}. ${install}, ${other}`;
  const [ownMajor, ownMinor] = probe.version;
  const version = `${ownMajor}.${ownMinor}`;
  if (ownMajor < major || (ownMajor === major && ownMinor < minor))
    return `${command} is Python ${version}: ${major}.${minor} or newer is needed. Install one, ${other}`;
  if (probe.venv) return undefined;
  return `${command} (${version}) has no venv or ensurepip: apt-get install -y python${version}-venv, ${other}`;
}

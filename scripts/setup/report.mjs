/** Lines for people. Standard error, so that standard output stays free for results. */
const colour = process.stderr.isTTY && !process.env.NO_COLOR;
const paint = (code, text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = text => paint('1', text);
export const dim = text => paint('2', text);
export const say = text => console.error(text);
export const done = (what, detail = '') =>
  say(`${paint('32', '✓')} ${what}${detail && dim(`  ${detail}`)}`);
export const doing = (what, why = '') =>
  say(`${paint('36', '→')} ${what}${why && dim(`  ${why}`)}`);
export const warn = text => say(`${paint('33', '!')} ${text}`);
export const fail = text => say(`${paint('31', '✗')} ${text}`);

export const seconds = ms => `${(ms / 1000).toFixed(1)} s`;

/** A mistake or lack that the person can put right: printed without a stack. */
export class SetupError extends Error {}

/** Runs `main` and ends with its exit code; a SetupError is printed in one line. */
export async function runMain(main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    if (!(error instanceof SetupError) && !String(error?.code).startsWith('ERR_PARSE_ARGS'))
      throw error;
    fail(error.message);
    process.exitCode = 1;
  }
}

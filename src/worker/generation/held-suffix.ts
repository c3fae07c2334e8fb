/** Characters at the end of `text` that may be the beginning of one of `marks`; 0: none. */
export function heldSuffix(text: string, marks: readonly string[]): number {
  let held = 0;
  for (const mark of marks) {
    for (let length = Math.min(mark.length - 1, text.length); length > held; length--) {
      if (text.endsWith(mark.slice(0, length))) held = length;
    }
  }
  return held;
}

/** Where the first of `marks` begins in `text`; undefined: none is there whole. */
export function firstMark(text: string, marks: readonly string[]): number | undefined {
  const found = marks.map(mark => text.indexOf(mark)).filter(at => at >= 0);
  return found.length === 0 ? undefined : Math.min(...found);
}

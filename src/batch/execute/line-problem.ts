/** A line that cannot be sent, found when it was its turn: an error line without an answer. */
export class LineProblem extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly param?: string,
  ) {
    super(message);
    this.name = 'LineProblem';
  }
}

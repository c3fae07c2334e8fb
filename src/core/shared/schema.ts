/** What an option of an engine may hold. */
export interface ValueRule {
  /** Allowed values as a noun phrase: `a number from 0 to 2`. */
  readonly allowed: string;
  readonly accepts: (value: unknown) => boolean;
}

export const TEXT: ValueRule = {
  allowed: 'text, not empty',
  accepts: value => typeof value === 'string' && value !== '',
};

export const FLAG: ValueRule = { allowed: 'true or false', accepts: value => typeof value === 'boolean' };

export const numberFrom = (min: number, max: number): ValueRule => ({
  allowed: `a number from ${min} to ${max}`,
  accepts: value => typeof value === 'number' && value >= min && value <= max,
});

export const wholeNumberFrom = (min: number, max: number): ValueRule => ({
  allowed: `a whole number from ${min} to ${max}`,
  accepts: value => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
});

import { probePauses } from '../../core/jobs/absence.js';
import { type LineTarget } from './line-target.js';
import { TargetGate } from './target-gate.js';
import { type TargetResolver } from './target-resolver.js';

/** Of a model without a target: its lines are never sent. */
const NO_RETRIES = { initialMs: 0, maxMs: 0 };

/** The gate of each model at its target; jobs share them. */
export class Gates {
  readonly #gates = new Map<LineTarget | undefined, Map<string, TargetGate>>();

  constructor(
    private readonly targets: TargetResolver,
    /** `batch.concurrency_per_model` */
    private readonly most: number,
  ) {}

  of(model: string): TargetGate {
    const target = this.targets.targetOf(model);
    let ofTarget = this.#gates.get(target);
    if (!ofTarget) this.#gates.set(target, (ofTarget = new Map<string, TargetGate>()));
    let gate = ofTarget.get(model);
    if (!gate) ofTarget.set(model, (gate = new TargetGate(this.most, probePauses(target?.spec.retries ?? NO_RETRIES))));
    return gate;
  }

  /** Lines in flight per model. */
  *inFlight(): Generator<{ model: string; inFlight: number }> {
    for (const ofTarget of this.#gates.values())
      for (const [model, { inFlight }] of ofTarget) yield { model, inFlight };
  }
}

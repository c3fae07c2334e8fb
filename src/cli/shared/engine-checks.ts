import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type EngineCheck } from '../../platform/config/models-file.js';

/** What the engines say about models; passed in by the program, which has them. */
export interface EngineChecks {
  /** Options of the engine that it refuses. */
  readonly objections: EngineCheck;
  /**
   * What the files of a model take, such as memory.
   * @throws Error that says what is missing
   */
  readonly checkFiles: (model: ModelSpec) => string | undefined;
}

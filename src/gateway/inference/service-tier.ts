import { type ServiceTier } from '../../contracts/openai/service-tier.js';
import { RequestPriority } from '../../core/request/request-priority.js';

/** The tier an answer tells: the one the request was really served in, whatever it asked for. */
export function usedTier(priority: RequestPriority, asked: ServiceTier): 'priority' | 'flex' | 'default' {
  if (priority === RequestPriority.REALTIME) return 'priority';
  return asked === 'flex' ? 'flex' : 'default';
}

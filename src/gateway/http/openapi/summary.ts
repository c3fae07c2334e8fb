import { type EndpointMethod, ENDPOINTS } from '../../../contracts/endpoints.js';

/** The summary of the endpoint table, so that Swagger UI and README say the same. */
export function summaryOf(method: EndpointMethod, path: string): string {
  const endpoint = ENDPOINTS.find(entry => entry.method === method && entry.path === path);
  if (!endpoint) throw new Error(`${method} ${path} is not in the endpoint table`);
  return endpoint.summary;
}

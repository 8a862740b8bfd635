import type { IncomingMessage } from 'node:http'
import { hasPages } from '../../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../../src/api/index.ts'
import { before } from '../../src/core/record.ts'

/** Addresses that people open in a browser, as the router matches them. */
const addresses = endpointNames
  .filter((name) => hasPages(api[name]))
  .map((name) => ({ name, pattern: patternOf(api[name].path) }))

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/:[A-Za-z]+/g, '[^/]+')}/?$`)
}

/** The endpoint whose page is at the address of a request, whatever its method. */
export function pageEndpointOf(req: IncomingMessage): EndpointName | undefined {
  const path = pathOf(req)
  return addresses.find(({ pattern }) => pattern.test(path))?.name
}

/** Whether programs talk to this address: they are answered in JSON even where there is nothing. */
export function isOfApi(req: IncomingMessage): boolean {
  return pathOf(req).startsWith('/v1/')
}

/** A router leaves the address that was asked for in `originalUrl`. */
function pathOf(req: IncomingMessage & { readonly originalUrl?: string }): string {
  return before(req.originalUrl ?? req.url ?? '/', '?')
}

import type { Request, WireAnswer } from '../api/endpoint.ts'
import { type Api, api, type RowName, rowNames } from '../api/index.ts'

/** What the client sends; a transport adds the address, credentials and payments, and throws on error answers. */
export type ClientCall = {
  readonly name: RowName
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Parameters filled in and escaped. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export type Send = (call: ClientCall) => Promise<unknown>

/** One method for every row of the contract, typed by it; answers stay in wire form. */
export type Client = { readonly [K in RowName]: (request: Request<Api[K]>) => Promise<WireAnswer<Api[K]>> }

export function createClient(send: Send): Client {
  const methods = rowNames.map((name) => [name, (request: AnyRequest) => send(callOf(name, request))])
  return Object.fromEntries(methods) as Client // one entry a row, each of the type that Client derives from it
}

type AnyRequest = {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

function callOf(name: RowName, { params = {}, query, body }: AnyRequest): ClientCall {
  const { method, path } = api[name]
  return {
    name,
    method,
    path: fillPath(path, params),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
  }
}

/** @throws TypeError when a parameter is missing: the types ask for all of them. */
export function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:([A-Za-z]+)/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new TypeError(`${path} needs ${name}`)
    return encodeURIComponent(value)
  })
}

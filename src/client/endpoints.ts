import { type Api, api, type EndpointName, endpointNames } from '../api/index.ts'
import { tableOf } from '../core/record.ts'

type Places = {
  readonly [K in EndpointName]: readonly [Api[K]['method'], Api[K]['path'], Api[K]['access']['kind']]
}

/** Method, path and access of endpoints. The build stores the computed table, so the program need not load `api`. */
export const endpoints = tableOf(endpointNames, (name) => {
  const { method, path, access } = api[name]
  return [method, path, access.kind] as const
}) as Places // each endpoint under its own name

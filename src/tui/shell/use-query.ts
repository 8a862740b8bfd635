import { createContext, useContext, useSyncExternalStore } from 'react'
import type { Fetch, Queries, Query } from './query.ts'

export const QueriesContext = createContext<Queries | undefined>(undefined)

/**
 * Fetches again and again while the component is shown, and on hints of the event stream.
 * @param options `name` is shared: components that name the same one share its value; `every` in milliseconds.
 */
export function useQuery<T>(fetch: Fetch<T>, options: { readonly name: string; readonly every: number }): Query<T> {
  const queries = useContext(QueriesContext)
  if (queries === undefined) throw new Error('useQuery needs a QueriesContext around it')
  const query = queries.open(options.name, fetch, options.every)
  return useSyncExternalStore(query.watch, query.get)
}

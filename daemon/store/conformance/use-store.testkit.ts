import type { Store } from '../port.ts'

/** The store of the running case, fresh each time; every transaction body in it runs twice. */
export type UseStore = () => Store

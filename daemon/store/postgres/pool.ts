import type { Connection } from './connection.ts'
import { patiently } from './retry.ts'

const MAX_SESSIONS = 6
/** Attempts of a read while the database does not answer. */
const MAX_RETRIES = 50

/** Sessions for reads and files, each used by one caller at a time. */
export type Pool = {
  use<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Like `use`, for work that may run again. */
  retry<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** @param isOver whether nothing is tried again */
export function createPool(connect: () => Promise<Connection>, isOver: () => boolean = () => false): Pool {
  const idle: Connection[] = []
  const waiting: (() => void)[] = []
  let open = 0
  let isClosed = false

  async function take(): Promise<Connection> {
    if (open >= MAX_SESSIONS) await new Promise<void>((resolve) => waiting.push(resolve))
    open += 1
    for (let known = idle.pop(); known !== undefined; known = idle.pop()) if (!known.isCut()) return known
    return connect()
  }

  async function use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    let connection: Connection | undefined
    try {
      connection = await take()
      return await work(connection)
    } finally {
      if (connection !== undefined && (isClosed || connection.isCut())) void connection.end()
      else if (connection !== undefined) idle.push(connection)
      open -= 1
      waiting.shift()?.()
    }
  }

  return {
    use,
    retry: (work) => patiently(() => use(work), { maxRetries: MAX_RETRIES, isOver: () => isClosed || isOver() }),
    async close() {
      isClosed = true
      await Promise.all(idle.splice(0).map((connection) => connection.end()))
    },
  }
}

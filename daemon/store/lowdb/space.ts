import { AppError } from '../../../src/core/error.ts'
import type { Disk } from '../disk.ts'

/** Bytes between checks of free space. */
const CHECK_EVERY_BYTES = 4 * 1024 * 1024
/** Below this much free space, new writes are refused, so that writes in progress still fit. */
export const DEFAULT_RESERVE_BYTES = 64 * 1024 * 1024

/** Refuses writes on a nearly full disk, so that no write fails halfway. */
export type Space = {
  /** @throws AppError unavailable */
  assertRoom(bytes: number): void
  /** Checks the free space now. @returns whether writes are refused */
  look(): Promise<boolean>
  /** Whether the reserve stays free after `bytes` more are written. */
  fits(bytes: number): Promise<boolean>
}

export function watchSpace(options: {
  readonly disk: Disk
  readonly dir: string
  readonly reserveBytes: number
}): Space {
  const { disk, dir, reserveBytes } = options
  let isFull = false
  let unlookedBytes = 0
  let looking: Promise<boolean> | undefined

  const fits = async (bytes: number): Promise<boolean> => (await disk.freeBytes(dir)) - bytes >= reserveBytes

  async function lookNow(): Promise<boolean> {
    try {
      isFull = !(await fits(0))
      return isFull
    } finally {
      looking = undefined
    }
  }

  function look(): Promise<boolean> {
    unlookedBytes = 0
    looking ??= lookNow()
    return looking
  }

  /** Checks free space in the background. If the file system reports no sizes, writes are accepted. */
  function lookInBackground(): void {
    look().catch(() => {
      isFull = false
    })
  }

  function assertRoom(bytes: number): void {
    unlookedBytes += bytes
    if (isFull || unlookedBytes > CHECK_EVERY_BYTES) lookInBackground()
    if (isFull) throw full()
  }

  return { assertRoom, look, fits }
}

/** Yields bytes while they fit on the disk, so that space for the journal stays free. @throws AppError `unavailable` */
export async function* whileRoom(space: Space, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let roomBytes = 0
  for await (const chunk of source) {
    if (chunk.byteLength > roomBytes) {
      roomBytes = Math.max(chunk.byteLength, CHECK_EVERY_BYTES)
      if (!(await space.fits(roomBytes))) throw full()
    }
    roomBytes -= chunk.byteLength
    yield chunk
  }
}

function full(): AppError {
  return new AppError('unavailable', 'The disk of this marketplace is almost full; nothing was changed.', {
    retryAfter: 60,
  })
}

import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { MINUTE_MS } from '../../../src/core/time.ts'
import type { PublicWeb } from '../web/web.ts'

/** Limit of a downloaded list; the published one has about 30 MB. */
const MAX_FETCHED_BYTES = 256 * 1024 * 1024
const FETCH_TIMEOUT_MS = 5 * MINUTE_MS
const READ_BYTES = 256 * 1024

export type SdnSource = {
  /** The configured path or URL; `sample` if none is configured. */
  readonly id: string
  /** The source as the public sees it: without folders, user names and keys. */
  readonly shown: string
  readonly isLocal: boolean
  readonly open: (signal: AbortSignal) => AsyncIterable<Uint8Array>
}

type Choice = {
  /** File path or URL (default: the sample). */
  readonly configured: string | undefined
  /** Path of the synthetic sanctions list that is part of the package. */
  readonly sample: string
}

export function sdnSource({ configured, sample }: Choice, web: PublicWeb): SdnSource {
  if (configured === undefined) {
    return { id: 'sample', shown: 'synthetic sample, not the real list', isLocal: true, open: fileOf(sample) }
  }
  const url = /^https?:/i.test(configured) ? URL.parse(configured) : null
  if (url) return { id: configured, shown: url.origin + url.pathname, isLocal: false, open: pageOf(configured, web) }
  return { id: configured, shown: `file ${basename(configured)}`, isLocal: true, open: fileOf(configured) }
}

const fileOf = (path: string) => (signal: AbortSignal) => createReadStream(path, { highWaterMark: READ_BYTES, signal })

const pageOf = (url: string, web: PublicWeb) =>
  async function* fetched(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const page = await web.get(url, {
      accept: 'application/xml, text/xml',
      maxBytes: MAX_FETCHED_BYTES,
      timeoutMs: FETCH_TIMEOUT_MS,
      // The list is published for programs, so robots.txt does not matter.
      ignoreRobots: true,
      signal,
    })
    if (page.status !== 200) throw new Error(`the source returned status ${page.status}`)
    yield page.body
  }

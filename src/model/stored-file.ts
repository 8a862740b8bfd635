import { z } from 'zod'

/** A file that somebody uploaded, as rows keep it: what its blob is, and what its owner called it. */
export const StoredFile = z.strictObject({
  /** Name of its blob, 64 lower-case hex digits. */
  sha256: z.string(),
  size_bytes: z.int(),
  /** A plain file name: no folders, no control characters. */
  name: z.string(),
  /** As its owner said; `application/octet-stream` where that was no media type. */
  content_type: z.string(),
})
export type StoredFile = z.infer<typeof StoredFile>

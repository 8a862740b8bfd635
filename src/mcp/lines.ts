type Bounds = {
  readonly maxBytes: number
  /** Hears of each line that is longer, once; nothing of it is kept. */
  readonly onTooLong: () => void
}

const NEWLINE = 0x0a

/**
 * Yields whole lines, newline included, as they come. A longer line than allowed is dropped, and what follows it is
 * read all the same.
 */
export async function* linesOf(
  source: AsyncIterable<Uint8Array | string>,
  { maxBytes, onTooLong }: Bounds,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let held = 0
  let isDropping = false
  const hold = (part: Buffer) => {
    if (isDropping) return
    held += part.length
    parts.push(part)
    if (held <= maxBytes) return
    isDropping = true
    parts = []
    onTooLong()
  }
  for await (const chunk of source) {
    let rest = Buffer.from(chunk as Uint8Array)
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      hold(rest.subarray(0, end + 1))
      const line = parts
      const isWhole = !isDropping
      rest = rest.subarray(end + 1)
      parts = []
      held = 0
      isDropping = false
      if (isWhole) yield Buffer.concat(line)
    }
    if (rest.length > 0) hold(rest)
  }
}

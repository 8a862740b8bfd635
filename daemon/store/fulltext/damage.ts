const DAMAGED: ReadonlySet<number> = new Set([11, 26])

const PRIMARY_CODE_MASK = 0xff

export function codeOf(error: unknown): number {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return typeof code === 'number' ? code & PRIMARY_CODE_MASK : 0
}

/** Whether the file, not the statement, is at fault. */
export function isDamage(error: unknown): boolean {
  return DAMAGED.has(codeOf(error))
}

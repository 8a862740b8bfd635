/** Repairs or checks the store of a stopped daemon; the daemon's own code does it, loaded only when asked for. */
export async function repairStoreOf(dataDir: string) {
  const { repairData } = await import('../../daemon/index.ts')
  return repairData(dataDir)
}

export async function verifyStoreOf(dataDir: string) {
  const { verifyData } = await import('../../daemon/index.ts')
  return verifyData(dataDir)
}

/** The store of a stopped daemon as a backup; see `backupData`. */
export async function* backupOf(dataDir: string) {
  const { backupData } = await import('../../daemon/index.ts')
  yield* backupData(dataDir)
}

/** Puts a backup in the place of a stopped daemon's store; see `replaceData`. */
export async function replaceStoreOf(dataDir: string, file: string) {
  const { replaceData } = await import('../../daemon/index.ts')
  return replaceData(dataDir, file)
}

/** Removes the data of a stopped daemon. */
export async function clearDataOf(dataDir: string) {
  const { clearData } = await import('../../daemon/index.ts')
  return clearData(dataDir)
}

/** Repairs or checks the store of a stopped daemon; the daemon's own code does it, loaded only when asked for. */
export async function repairStoreOf(dataDir: string) {
  const { repairData } = await import('../../daemon/index.ts')
  return repairData(dataDir)
}

export async function verifyStoreOf(dataDir: string) {
  const { verifyData } = await import('../../daemon/index.ts')
  return verifyData(dataDir)
}

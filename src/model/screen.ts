/** Screens of the cockpit, in the order of their tabs. */
export const screenIds = [
  'overview',
  'services',
  'jobs',
  'threads',
  'crons',
  'endpoints',
  'money',
  'compliance',
  'logs',
] as const
export type ScreenId = (typeof screenIds)[number]

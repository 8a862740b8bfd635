/** Screens of the cockpit, in the order of their tabs. */
export const screenIds = ['overview', 'services', 'jobs', 'crons', 'endpoints', 'money', 'logs'] as const
export type ScreenId = (typeof screenIds)[number]

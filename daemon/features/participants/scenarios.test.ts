import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { accountScenarios } from './account-scenarios.testkit.ts'
import { profileScenarios } from './profile-scenarios.testkit.ts'
import { participantScenarios } from './scenarios.testkit.ts'
import { suspensionScenarios } from './suspension-scenarios.testkit.ts'

describeScenarios('Registration and participants', participantScenarios)
describeScenarios('Account', accountScenarios)
describeScenarios('Profiles and identities', profileScenarios)
describeScenarios('What a suspension takes off the market', suspensionScenarios)

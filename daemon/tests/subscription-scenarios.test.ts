import { renewalScenarios } from '../../fixtures/scenarios/renewals.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'
import { subscriptionScenarios } from '../../fixtures/scenarios/subscriptions.ts'

describeScenarios('Subscriptions', [...subscriptionScenarios, ...renewalScenarios])

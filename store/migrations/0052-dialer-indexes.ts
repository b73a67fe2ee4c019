/**
 * What a campaign's turn and its status read again and again: the attempts that are under way, a few of a million. `calls_campaign`
 * was `calls_by_campaign` without its last column; each call that is made pays for every index.
 */
export const sql = `
create index prospect_attempts_under_way on prospect_attempts (campaign_id) where ended_at is null;
drop index calls_campaign;
`

/** Whose words for what callers say a call keeps where the agent's model hears sound: the recogniser's, or the model's. */
export const sql = `
alter table agents add column transcribe text not null default 'own' check (transcribe in ('own', 'model'));
`

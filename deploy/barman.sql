-- What the role `collector` needs so that its site is backed up, and what keeps the server safe from a
-- backup that is away: run once by the server's superuser, psql --file deploy/barman.sql collector.
ALTER ROLE collector REPLICATION;
GRANT pg_read_all_settings, pg_read_all_stats, pg_checkpoint TO collector;
GRANT EXECUTE ON FUNCTION pg_backup_start(text, boolean), pg_backup_stop(boolean),
  pg_switch_wal(), pg_create_restore_point(text) TO collector;
-- What is received is then written at once, and no commit waits for it.
ALTER SYSTEM SET synchronous_standby_names = 'barman_receive_wal';
ALTER SYSTEM SET synchronous_commit = 'local';
-- What nobody receives does not fill the disk; a backup that lost some of it begins anew by itself.
ALTER SYSTEM SET max_slot_wal_keep_size = '8GB';
SELECT pg_reload_conf();

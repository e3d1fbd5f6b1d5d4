/// A valid example of a configuration, which contains every setting.
let configurationExample = """
    # grocerydude's configuration: $XDG_CONFIG_HOME/grocerydude/config.yaml, or
    # ~/.config/grocerydude/config.yaml if that variable is not set.
    #
    # Settings at the top are for all profiles; a profile's own settings win.
    # 'grocerydude config show' prints the settings in force, and their places.
    # Pieces in config.d/*.yaml beside this file are read too; this file wins.
    # Relative paths begin at this file's directory, '~/' is your home directory.

    compression: default              # fast, default, best or none
    lock_wait: 10m                    # how long to wait for another run
    # staging: /mnt/large              # where archives for rclone are made
    spool: true                       # false: upload archives while they are made
    remote_connect_timeout: 10s       # for reaching a remote through rclone
    remote_idle_timeout: 60s          # how long it may not move a byte
    remote_bwlimit: 10M               # rclone's limit, as its --bwlimit
    skip_if_unchanged: true           # no new backup of what is in the newest
    incremental: true                 # only what differs from an earlier one
    full_every: 7d                    # and a whole one this often
    reread: false                     # read files whose times did not change
    strict: false                     # rows without their parents are damage
    check_stores: false               # check all of every store, each time

    # recipients: [age1…]             # public keys, files of them, or [password]
    # identities: ~/.config/grocerydude/identity.txt    # secret keys for them
    # password_command: pass show grocerydude           # or password_file
    # signing_key: ~/.ssh/id_ed25519  # signs backups in place of a key of their own
    # origin: nas                     # the name of this machine's backups

    exclude: [/cache/, "*.tmp"]       # as in .gitignore; restores keep them
    exclude_caches: true              # and directories with a CACHEDIR.TAG
    follow_links: false               # save databases that links lead to
    # external_files: photo.file of app.sqlite in photos  # columns that name files

    queue: true                       # wait here if the remote is away
    queue_limit:                      # as many as may wait
      backups: 30
      size: 10G

    prune: true                       # after every backup, once it is verified
    retention:                        # restic's words, with restic's meaning
      keep_daily: 7
      keep_weekly: 4
      keep_monthly: 12
      # keep_last: 3
      # keep_hourly: 24
      # keep_yearly: -1               # -1: of every one
      # keep_within: 14d
      # keep_within_hourly: 2d
      # keep_within_daily: 1m
      # keep_within_weekly: 3m
      # keep_within_monthly: 1y
      # keep_within_yearly: 10y
      # keep_tags: [before-upgrade, "monthly,checked"]
      keep_safety: 7d                 # how long backups are kept that restores made
      keep_trash: 7d                  # how long removed backups can be had back

    # notify: [mail:me@example.org, https://ntfy.sh/your-topic, desktop]
    notify_on: [failure, recovery, missed]   # or success: when that changes
    max_age: 26h                      # 'status' fails if the newest is older
    watch_interval: 30s               # how often '--watch' looks by itself
    limits:                           # of zips of other programs
      entries: 1000000
      size: 1T
      ratio: 200                      # bytes for each byte of the zip
      depth: 128                      # components of a path

    profiles:
      photos:
        stores: ~/Photos/Stores
        remote: ~/Dropbox/Apps/Grocery Dude
        schedule: daily 03:30         # or: hourly | every 6h | weekly sun 04:00
        tags: [laptop]
        # suspended: until the move   # no backups are made for now, and this is why

      server:
        stores: /srv/app/data
        remote: rclone:nas:backups/app
        compression: best
        schedule: every 6h
        ping_url: https://hc-ping.example/your-uuid
        ping_timeout: 10s
        metrics_file: /var/lib/node_exporter/grocerydude.prom
        check:
          schedule: weekly sun 05:00
          restore: true               # rehearse a restore
          all: true                   # all backups, not only the newest
          # read_data_subset: next/7  # without 'restore': a seventh a time
        restore:
          check: full                 # none, quick or full
          safety_backup: true
          # strip_components: 1       # for zips of other programs
          set_aside_leftovers: false  # rename leftovers in the way
          notify: HUP:/run/app.pid    # a signal after a restore, or a list
          generation_file: /srv/app/Stores.generation   # new after a restore
        sync:                         # after 'grocerydude sync enable'
          container: ~/Dropbox/Sync   # shared, or rclone:REMOTE:PATH
          group: app                  # else made of the store's name
          # map: /srv/app/sync.json   # what the schema does not say
          schedule: every 5m
          # while_open: false         # wait while an application is open
          max_age: 1h                 # 'sync status' fails if it is older
          enabled: true               # false: nothing is exchanged
        hooks:                        # commands for /bin/sh; one, or a list
          backup:
            before: test -e /srv/app/ready || exit 75      # 75: skip this run
            after: echo done
            on_success: logger 'backed up'
            on_failure:
              - logger "backup failed with $GROCERYDUDE_EXIT_CODE"
              - mail -s "$GROCERYDUDE_ERROR" admin@example.com
            finally: rm -f /run/app-backup
            timeout: 5m               # for each command
          restore:
            stop: systemctl stop app
            start: systemctl start app
            verify: curl --fail --max-time 20 http://localhost:8080/health
            timeout: 2m
            # before, after, on_success, on_failure and finally are here, too
          check:
            on_failure: logger 'a backup is damaged'
            # before, after, on_success, finally and timeout are here, too
          sync:
            will_import: test ! -e /run/app-busy       # before others' changes
            did_import: kill -HUP $(cat /run/app.pid)  # see $GROCERYDUDE_CHANGES
            on_failure: logger "sync ended with $GROCERYDUDE_EXIT_CODE"
            # before, after, on_success, finally and timeout are here, too

    """

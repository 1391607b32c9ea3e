"""Does what `pgbench -N` does through psycopg2: as much as clients of Python can reach."""

import random
import sys
import threading
import time

import psycopg2

# As `pgbench -N` sends them, one by one, between BEGIN and END.
CHANGE = "UPDATE pgbench_accounts SET abalance = abalance + %s WHERE aid = %s"
READ = "SELECT abalance FROM pgbench_accounts WHERE aid = %s"
NOTE = (
    "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)"
    " VALUES (%s, %s, %s, %s, CURRENT_TIMESTAMP)"
)


def main() -> None:
    """Print how many transactions so many threads did from `start` on, in so many seconds."""
    database, clients = sys.argv[1], int(sys.argv[2])
    start, seconds = float(sys.argv[3]), float(sys.argv[4])
    done: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: done.append(_transactions(database, start, start + seconds))
        )
        for _ in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(done))


def _transactions(database: str, start: float, end: float) -> int:
    connection = psycopg2.connect(database)
    cursor = connection.cursor()
    cursor.execute("SELECT count(*) FROM pgbench_branches")
    [branches] = cursor.fetchone()
    connection.commit()
    time.sleep(max(0.0, start - time.time()))
    done = 0
    while time.time() < end:
        account, delta = random.randint(1, 100_000 * branches), random.randint(-5000, 5000)
        cursor.execute(CHANGE, (delta, account))
        cursor.execute(READ, (account,))
        cursor.fetchone()
        teller, branch = random.randint(1, 10 * branches), random.randint(1, branches)
        cursor.execute(NOTE, (teller, branch, account, delta))
        connection.commit()
        done += 1
    connection.close()
    return done


if __name__ == "__main__":
    main()
